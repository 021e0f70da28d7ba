// otlp.mjs PACKAGES PORT_FILE -- an OTLP/HTTP server that reads logs by OpenTelemetry's
// own generated classes, and prints each record as a line of JSON.
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { renameSync, writeFileSync } from 'node:fs';

const [packages, portFile] = process.argv.slice(2);
const load = createRequire(packages + '/');
const root = load('@opentelemetry/otlp-transformer/build/src/generated/root.js');
const Request =
  root.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;

function text(attributes, key) {
  const found = attributes.find((attribute) => attribute.key === key);
  return found ? found.value.stringValue : '';
}

function show(resource, record, unknown) {
  console.log(JSON.stringify({
    service: text(resource.attributes, 'service.name'),
    severity: record.severityNumber,
    time: record.timeUnixNano.toString(),
    id: text(record.attributes, 'log.record.uid'),
    type: text(record.attributes, 'exception.type'),
    message: text(record.attributes, 'exception.message'),
    stack: text(record.attributes, 'exception.stacktrace'),
    queue: text(record.attributes, 'queue'),
    unknown,
  }));
}

function take(body) {
  const json = JSON.parse(body);
  const request = Request.fromObject(json);
  const mistake = Request.verify(Request.toObject(request));
  if (mistake)
    throw new Error(mistake);
  const unknown = Object.keys(json).filter((key) => !(key in Request.prototype));
  for (const logs of request.resourceLogs)
    for (const scope of logs.scopeLogs)
      for (const record of scope.logRecords)
        show(logs.resource, record, unknown.join());
}

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    let body = Buffer.concat(parts);
    try {
      if (request.headers['content-encoding'] === 'gzip')
        body = gunzipSync(body);
      take(body.toString());
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    } catch (error) {
      console.error(String(error));
      response.writeHead(400).end(String(error));
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  writeFileSync(portFile + '.new', String(server.address().port));
  renameSync(portFile + '.new', portFile);
});
