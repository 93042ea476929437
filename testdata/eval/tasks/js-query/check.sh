# Seen by nobody who works on the task.
set -e
node -e "
const {parse} = require('./query.js');
const assert = require('assert');
const q = parse('?a=1&a=2%26&b&c=x=y&__proto__=z');
assert.deepStrictEqual(q.a, ['1', '2&']);
assert.strictEqual(q.b, '');
assert.strictEqual(q.c, 'x=y');
assert.strictEqual(q['__proto__'], 'z');
assert.strictEqual(Object.getPrototypeOf(q), null);
"
