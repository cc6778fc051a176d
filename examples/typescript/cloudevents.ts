// Asks the guard as on an event bus: the check is published as a CloudEvent, and
// the decision, an event too, comes on the decision subject of the scope:
//
//   npm ci && npm run build && node dist/cloudevents.js write /etc/passwd
//
// Exit: 0 allowed, 1 not allowed, 2 wrong use, 3 nobody judged.
import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { connect, headers } from "@nats-io/transport-node";

const timeoutMs = 1000;
const scope = "example.cloudevents";

interface Decision {
  protocolVersion: string;
  requestId: string;
  decision: string;
  code: string;
  reason: string;
}

const nobodyJudged = new Set([
  "overloaded", "policy-unavailable", "state-unavailable",
  "unsupported-version", "unsupported-kind", "unsupported-operation",
]);

/** Returns what the provider decided; throws where nobody judged. */
async function ask(operation: string, path: string): Promise<Decision> {
  const nc = await connect({ servers: process.env.NATS_URL ?? "nats://127.0.0.1:4222", timeout: timeoutMs });
  try {
    const requestId = randomUUID();
    const event = {
      specversion: "1.0",
      id: requestId,
      source: "/examples/typescript",
      type: "dev.guardrails.check.v1",
      datacontenttype: "application/json",
      data: {
        protocolVersion: "1",
        requestId,
        caller: { extensionId: "example-cloudevents" },
        action: { resource: { kind: "file" }, operation, targets: [{ path }] },
        context: { cwd: process.cwd(), home: homedir() },
        options: { timeoutMs },
      },
    };
    const h = headers();
    h.set("Content-Type", "application/cloudevents+json");

    // Subscribe first, then send, then ignore what is not for us.
    const answers = nc.subscribe(`guardrails.decision.${scope}`);
    nc.publish(`guardrails.check.${scope}`, JSON.stringify(event), { headers: h });
    const timer = setTimeout(() => answers.unsubscribe(), timeoutMs); // ends the loop
    try {
      for await (const message of answers) {
        const d = decisionIn(message.string());
        if (d?.protocolVersion !== "1" || d.requestId !== requestId) {
          continue;
        }
        if (nobodyJudged.has(d.code)) {
          throw new Error(d.reason);
        }
        return d;
      }
    } finally {
      clearTimeout(timer);
    }
    throw new Error("no answer came in time");
  } finally {
    await nc.close();
  }
}

function decisionIn(text: string): Decision | undefined {
  try {
    const event = JSON.parse(text) as { type?: string; data?: Decision };
    return event.type === "dev.guardrails.decision.v1" ? event.data : undefined;
  } catch {
    return undefined;
  }
}

const [operation, path] = process.argv.slice(2);
if (operation === undefined || path === undefined) {
  console.error("usage: cloudevents.js OPERATION PATH");
  process.exit(2);
}
try {
  const d = await ask(operation, path);
  console.log(`${d.decision} (${d.code}): ${d.reason}`);
  process.exitCode = d.decision === "allow" ? 0 : 1; // exactly that, and nothing else
} catch (problem) {
  console.error(`nobody judged: ${problem instanceof Error ? problem.message : problem}`);
  process.exitCode = 3;
}
