// Asks the guard before it acts, in plain JSON:
//
//   npm ci && npm run build && node dist/check.js write /etc/passwd
//
// Exit: 0 allowed, 1 not allowed, 2 wrong use, 3 nobody judged.
import { createHash, randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { connect } from "@nats-io/transport-node";

const timeoutMs = 1000;

interface Decision {
  protocolVersion: string;
  requestId: string;
  decision: string;
  code: string;
  reason: string;
  requestHash?: string;
}

const nobodyJudged = new Set([
  "overloaded", "policy-unavailable", "state-unavailable",
  "unsupported-version", "unsupported-kind", "unsupported-operation",
]);

/** Returns what the provider decided; throws where nobody judged. */
async function ask(operation: string, path: string): Promise<Decision> {
  const nc = await connect({ servers: process.env.NATS_URL ?? "nats://127.0.0.1:4222", timeout: timeoutMs });
  try {
    const check = {
      protocolVersion: "1",
      requestId: randomUUID(),
      caller: { extensionId: "example-typescript" },
      action: { resource: { kind: "file" }, operation, targets: [{ path }] },
      context: { cwd: process.cwd(), home: homedir() },
      options: { timeoutMs },
    };
    const body = JSON.stringify(check);
    // Throws on a time-out, and at once where no provider listens.
    const message = await nc.request("guardrails.check", body, { timeout: timeoutMs });
    const d = message.json<Decision>();
    if (d.protocolVersion !== "1" || d.requestId !== check.requestId) {
      throw new Error("the answer is to another check");
    }
    if (nobodyJudged.has(d.code)) {
      throw new Error(d.reason);
    }
    const hash = "sha256:" + createHash("sha256").update(body).digest("hex");
    if (d.decision !== "error" && d.requestHash !== hash) {
      throw new Error("the answer is to a check with other contents");
    }
    return d;
  } finally {
    await nc.close();
  }
}

const [operation, path] = process.argv.slice(2);
if (operation === undefined || path === undefined) {
  console.error("usage: check.js OPERATION PATH");
  process.exit(2);
}
try {
  const d = await ask(operation, path);
  console.log(`${d.decision} (${d.code}): ${d.reason}`);
  process.exitCode = d.decision === "allow" ? 0 : 1; // exactly that, and nothing else
} catch (problem) {
  // Here a program applies its posture: proceed only where little is at stake.
  console.error(`nobody judged: ${problem instanceof Error ? problem.message : problem}`);
  process.exitCode = 3;
}
