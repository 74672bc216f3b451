// Compares every function of the module with values from ball arithmetic: node STEM_check.mjs
// It ends with status 0 if all agree.
import { readFile } from "node:fs/promises";

const stem = new URL(import.meta.url).pathname.replace(/_check\.mjs$/, "");
const { load } = await import(`file://${stem}.mjs`);
const tolerance = TOLERANCE; // as a share of the largest entry of an output, or of 1
const cases = CASES;

const mechanism = await load(await readFile(decodeURIComponent(`${stem}.wasm`)));
let failures = 0;
for (const { name, inputs, outputs } of cases) {
  const found = mechanism[name](...inputs);
  const arrays = found instanceof Float64Array ? [found] : Object.values(found);
  outputs.forEach((wanted, k) => {
    const error = Math.max(...wanted.map((x, i) => Math.abs(arrays[k][i] - x)));
    const largest = Math.max(1, ...wanted.map(Math.abs));
    const failed = !(error <= tolerance * largest);
    failures += failed;
    console.log(`${failed ? "FAILED" : "ok"} ${name}: error ${error.toExponential(1)}`);
  });
}
console.log(`${failures} failures`);
process.exitCode = failures ? 1 : 0;
