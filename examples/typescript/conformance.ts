// Holds a running provider to the protocol from outside, with nats.js and none of
// our code: request and reply, and publish and subscribe; without and with a
// scope; in plain JSON, CloudEvents structured and CloudEvents binary; and what
// NATS discovery says of it. Prints a line per cell; exit 1 where one fails.
//
//   npm ci && npm run build && node dist/conformance.js
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { connect, headers, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";

const timeoutMs = 2000;
const ways = ["request and reply", "publish and subscribe"] as const;
const scopes = ["", "swarm-a.agent-7"];
const encodings = ["plain", "structured", "binary"] as const;
type Way = (typeof ways)[number];
type Encoding = (typeof encodings)[number];

const cases = [
  { operation: "read", path: "README.md", decision: "allow" },
  { operation: "write", path: "/etc/passwd", decision: "block" },
];

interface Sent {
  body: string;
  headers: MsgHdrs;
}

/** Puts a check into its encoding; the document's bytes are sent as they are. */
function seal(encoding: Encoding, doc: string, id: string, traceparent: string): Sent {
  const h = headers();
  switch (encoding) {
    case "plain":
      h.set("traceparent", traceparent);
      return { body: doc, headers: h };
    case "structured":
      h.set("Content-Type", "application/cloudevents+json");
      return {
        body: `{"specversion":"1.0","id":"${id}","source":"/conformance","type":"dev.guardrails.check.v1",` +
          `"datacontenttype":"application/json","traceparent":"${traceparent}","data":${doc}}`,
        headers: h,
      };
    case "binary":
      h.set("ce-specversion", "1.0");
      h.set("ce-id", id);
      h.set("ce-source", "/conformance");
      h.set("ce-type", "dev.guardrails.check.v1");
      h.set("ce-traceparent", traceparent);
      h.set("Content-Type", "application/json");
      return { body: doc, headers: h };
  }
}

/** Takes a decision out of its encoding, and holds it to that of the check. */
function open(encoding: Encoding, message: Msg, traceparent: string): any {
  const h = message.headers;
  switch (encoding) {
    case "plain":
      assert.equal(h?.get("traceparent"), traceparent, "traceparent header");
      assert.ok(!h?.has("ce-specversion"), "a plain check got a CloudEvent");
      return message.json();
    case "structured": {
      assert.equal(h?.get("Content-Type"), "application/cloudevents+json", "Content-Type");
      const event = message.json<any>();
      assert.equal(event.specversion, "1.0");
      assert.equal(event.type, "dev.guardrails.decision.v1");
      assert.ok(event.id && event.source, "id and source");
      assert.equal(event.traceparent, traceparent, "traceparent attribute");
      return event.data;
    }
    case "binary":
      assert.equal(h?.get("ce-specversion"), "1.0", "ce-specversion");
      assert.equal(h?.get("ce-type"), "dev.guardrails.decision.v1", "ce-type");
      assert.ok(h?.get("ce-id") && h.get("ce-source"), "ce-id and ce-source");
      assert.equal(h.get("ce-traceparent"), traceparent, "ce-traceparent header");
      return message.json();
  }
}

async function cell(nc: NatsConnection, way: Way, scope: string, encoding: Encoding): Promise<void> {
  const suffix = scope === "" ? "" : "." + scope;
  for (const c of cases) {
    const id = randomUUID();
    const traceparent = `00-${randomUUID().replaceAll("-", "")}-00f067aa0ba902b7-01`;
    // White space, an unknown member and an escape: the hash is of the very bytes.
    const doc = `{ "protocolVersion": "1",\n  "requestId": "${id}", "unknown": "\\u00e9", ` +
      `"caller": { "extensionId": "conformance" }, "action": { "resource": { "kind": "file" }, ` +
      `"operation": "${c.operation}", "targets": [ { "path": "${c.path}" } ] }, "context": { "cwd": "/repo" } }`;
    const { body, headers } = seal(encoding, doc, id, traceparent);

    const published = nc.subscribe("guardrails.decision" + suffix, { max: 1, timeout: timeoutMs });
    const heard = (async () => { for await (const message of published) return message; })();
    const answers: Array<Msg | undefined> = [];
    if (way === "request and reply") {
      answers.push(await nc.request("guardrails.check" + suffix, body, { headers, timeout: timeoutMs }));
    } else {
      nc.publish("guardrails.check" + suffix, body, { headers });
    }
    answers.push(await heard); // the decision subject gets it in any case

    for (const message of answers) {
      assert.ok(message, "no answer");
      const d = open(encoding, message, traceparent);
      assert.equal(d.protocolVersion, "1");
      assert.equal(d.requestId, id);
      assert.equal(d.decision, c.decision, d.reason);
      assert.equal(d.requestHash, "sha256:" + createHash("sha256").update(doc).digest("hex"), "requestHash");
      assert.equal(d.provider.id, "guardrails-provider");
    }
  }
}

async function discovery(nc: NatsConnection): Promise<void> {
  for (const verb of ["PING", "INFO", "STATS"]) {
    for (const subject of [`$SRV.${verb}`, `$SRV.${verb}.guardrails-provider`]) {
      const answer = (await nc.request(subject, "", { timeout: timeoutMs })).json<any>();
      assert.equal(answer.type, `io.nats.micro.v1.${verb.toLowerCase()}_response`);
      assert.equal(answer.name, "guardrails-provider");
      assert.match(answer.version, /^\d+\.\d+\.\d+/);
      const own = (await nc.request(`$SRV.${verb}.guardrails-provider.${answer.id}`, "", { timeout: timeoutMs })).json<any>();
      assert.equal(own.id, answer.id);
      if (verb === "PING") {
        continue;
      }
      const subjects = answer.endpoints.map((e: any) => e.subject);
      for (const subject of ["guardrails.check", "guardrails.check.>", "guardrails.status"]) {
        assert.ok(subjects.includes(subject), `${verb} has no endpoint ${subject}`);
      }
      assert.ok(answer.endpoints.every((e: any) => e.queue_group === "guardrails"), "queue groups");
      if (verb === "STATS") {
        const requests = answer.endpoints.reduce((n: number, e: any) => n + e.num_requests, 0);
        assert.ok(requests >= 24, `STATS counts only ${requests} requests`);
      }
    }
  }
}

const nc = await connect({ servers: process.env.NATS_URL ?? "nats://127.0.0.1:4222" });
const results: Array<[string, () => Promise<void>]> = [];
for (const way of ways) {
  for (const scope of scopes) {
    for (const encoding of encodings) {
      results.push([`${way}, ${scope || "no scope"}, ${encoding}`, () => cell(nc, way, scope, encoding)]);
    }
  }
}
results.push(["discovery", () => discovery(nc)]);
for (const [name, run] of results) {
  try {
    await run();
    console.log(`ok    ${name}`);
  } catch (problem) {
    console.log(`FAIL  ${name}: ${problem instanceof Error ? problem.message : problem}`);
    process.exitCode = 1;
  }
}
await nc.close();
