# Seen by nobody who works on the task.
set -e
node -e "
const {limit} = require('./limit.js');
const assert = require('assert');
let now = 0, most = 0;
const job = (v) => async () => { most = Math.max(most, ++now); await new Promise((r) => setTimeout(r, 5)); now--; return v; };
limit(2, [1, 2, 3, 4, 5].map(job)).then(async (all) => {
  assert.deepStrictEqual(all, [1, 2, 3, 4, 5]);
  assert.strictEqual(most, 2);
  await assert.rejects(limit(1, [async () => { throw new Error('no'); }]));
  assert.deepStrictEqual(await limit(3, []), []);
}).catch((e) => { console.error(e); process.exit(1); });
"
