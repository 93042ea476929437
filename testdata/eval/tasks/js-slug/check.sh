# Seen by nobody who works on the task.
set -e
node -e "
const {slug} = require('./slug.js');
const assert = require('assert');
assert.strictEqual(slug('  Crème Brûlée -- 2nd try! '), 'creme-brulee-2nd-try');
assert.strictEqual(slug('---'), '');
"
