// loopback.cjs -- node --require ./loopback.cjs PROGRAM: whatever listens does so on the
// loopback only. (Spotlight listens on every interface, and cannot be told otherwise.)
const net = require('net');
const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...args) {
  if (args[0] && typeof args[0] === 'object' && args[0].port !== undefined)
    args[0] = { ...args[0], host: '127.0.0.1' };
  else if (typeof args[0] === 'number' && typeof args[1] === 'string')
    args[1] = '127.0.0.1';
  else if (typeof args[0] === 'number')
    args.splice(1, 0, '127.0.0.1');
  return listen.apply(this, args);
};
