// faults.mjs PACKAGES PORT_FILE -- a server (mockttp) each path of which misbehaves in
// one way; prints a line for each request: its path, key and encoding.
import { createRequire } from 'node:module';
import { renameSync, writeFileSync } from 'node:fs';

const [packages, portFile] = process.argv.slice(2);
const { getLocal } = createRequire(packages + '/')('mockttp');
const server = getLocal();

await server.start({ startPort: 20000, endPort: 29999 });
await server.on('request', (request) => console.log(
  new URL(request.url).pathname, request.headers['idempotency-key'],
  request.headers['content-encoding'] ?? 'plain'));
const post = (path) => server.forPost(path);
await post('/slow').thenTimeout(); // takes the request, and never answers
await post('/close').thenCloseConnection();
await post('/reset').thenResetConnection();
await post('/redirect').thenReply(307, '', { Location: '/elsewhere' });
await post('/huge').thenReply(200, 'x'.repeat(50e6));
await post('/seconds').once().thenReply(429, '', { 'Retry-After': '1' });
await post('/date').once().thenReply(503, '', {
  'Retry-After': new Date(Date.now() + 2000).toUTCString() });
await post('/413').thenReply(413, '');
await post('/400').thenReply(400, 'cannot decode');
await post('/401').thenReply(401, 'who is asking?');
await server.forAnyRequest().thenReply(200, '{}');
writeFileSync(portFile + '.new', String(server.port));
renameSync(portFile + '.new', portFile);
