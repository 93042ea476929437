# Seen by nobody who works on the task.
set -e
node -e "
const {table} = require('./table.js');
const assert = require('assert');
assert.strictEqual(table([['a', 'bb', ''], ['ccc', 'd', 'e']]), 'a    bb\nccc  d   e');
assert.strictEqual(table([['é'], ['ab']]), 'é\nab');
"
