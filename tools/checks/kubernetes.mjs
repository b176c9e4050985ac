// Checks manifests against the types of Kubernetes' API: each object becomes a literal of its type,
// of which the compiler says what is missing, misspelt or of another type. With the packages
// kubernetes-types, typescript and js-yaml in the current folder: node kubernetes.mjs FILE...
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const yaml = require("js-yaml");

// "policy/v1" is a module of the package, and "v1" is its core.
const moduleOf = (apiVersion) => (apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`);

const lines = [];
for (const file of process.argv.slice(2)) {
  for (const object of yaml.loadAll(readFileSync(file, "utf8"))) {
    const type = `${object.kind}${lines.length}`;
    lines.push(
      `// ${file}: ${object.kind} ${object.metadata?.name}`,
      `import { ${object.kind} as ${type} } from "kubernetes-types/${moduleOf(object.apiVersion)}";`,
      `export const the${type}: ${type} = ${JSON.stringify(object, null, 2)};`,
    );
  }
}
if (lines.length === 0) throw new Error("no objects");
writeFileSync("manifests.ts", lines.join("\n"));
try {
  execFileSync("node_modules/.bin/tsc",
               ["--noEmit", "--strict", "--skipLibCheck", "--moduleResolution", "node", "manifests.ts"],
               { stdio: "inherit" });
} catch {
  console.error("manifests.ts here has the objects in the order of the files");
  process.exit(1);
}
console.log(`${lines.length / 3} objects are as the API has them`);
