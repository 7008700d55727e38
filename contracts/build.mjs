// Compiles contracts/src/*.sol into one JSON file for each contract that can be placed on a chain: abi, creation code, runtime code, storage slots.
// Usage: node contracts/build.mjs <output folder>. The compiler is the exact version below, from .tools/ (scripts/install-test-tools).
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '0.8.37'; // also named in scripts/install-test-tools
const LARGEST = 24_576; // bytes of runtime code (EIP-170)
// What the account asks of every asset and venue in each transaction, and what carries out a swap.
const OFTEN = [
  'balanceOf(address)',
  'movesOf(address)',
  'count(address)',
  'standing()',
  'execute(address,uint256,bytes)',
  'transferFrom(address,address,uint256)',
  'transfer(address,uint256)',
  'worth(uint256)',
  'getReserves()',
  'swap(uint256,uint256,address)',
  'getPair(address,address)',
  'swapExactIn(uint256,uint256,address[],address,uint256)',
];

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
if (!output) fail('usage: node contracts/build.mjs <output folder>');

let solc;
try {
  solc = createRequire(join(here, '../.tools/'))('solc');
} catch {
  fail(`solc ${VERSION} is missing: run scripts/install-test-tools`);
}
if (!solc.version().startsWith(`${VERSION}+`)) fail(`solc is ${solc.version()}, not ${VERSION}: run scripts/install-test-tools`);

const names = readdirSync(join(here, 'src')).filter((name) => name.endsWith('.sol')).sort();
const common = { evmVersion: 'prague', metadata: { appendCBOR: false, bytecodeHash: 'none' } };
const optimizer = { enabled: true, runs: 200 };
const compiled = compile({
  language: 'Solidity',
  sources: Object.fromEntries(names.map((name) => [name, { content: readFileSync(join(here, 'src', name), 'utf8') }])),
  settings: { ...common, optimizer, viaIR: true, outputSelection: { '*': { '*': ['abi', 'storageLayout', 'ir'] } } },
});

mkdirSync(output, { recursive: true });
for (const name of names) {
  const contract = name.slice(0, -'.sol'.length);
  const { abi, ir, storageLayout } = compiled.contracts[name]?.[contract] ?? fail(`${name} holds no ${contract}`);
  // Abstract contracts have no code, libraries of ours have no functions to call from outside.
  if (ir === '' || abi.every((entry) => entry.type === 'error')) continue;
  if (ir.includes('loadimmutable(')) fail(`${contract} has immutables: it could not be etched`);
  if (abi.some((entry) => entry.type === 'constructor')) fail(`${contract} has a constructor: it could not be etched`);
  const evm = assemble(contract, oftenFirst(ir));
  const size = evm.deployedBytecode.object.length / 2;
  if (size > LARGEST) fail(`${contract} has ${size} bytes of code, more than ${LARGEST}`);
  // Where each variable lies, so that a changed slot can be named.
  const storage = Object.fromEntries(storageLayout.storage.map(({ label, slot }) => [label, Number(slot)]));
  const artifact = { abi, storage, bytecode: `0x${evm.bytecode.object}`, deployed: `0x${evm.deployedBytecode.object}` };
  writeFileSync(join(output, `${contract}.json`), `${JSON.stringify(sorted(artifact), null, 1)}\n`);
  if (process.env.SIZES) console.error(`${contract} ${size}`);
}

// A contract looks for the function that is called in the order of their selectors, one after the other. Here those of OFTEN come first.
function oftenFirst(ir) {
  return ir.replace(/( +)switch selector\n(?:\n\1case 0x[0-9a-f]{8}\n\1\{\n[^]*?\n\1\}\n)+/g, (whole, indent) => {
    const [head, ...cases] = whole.split(`\n${indent}case `);
    const rank = (text) => OFTEN.findIndex((signature) => text.includes(`// ${signature}\n`)) >>> 0;
    cases.sort((a, b) => rank(a) - rank(b));
    return [head, ...cases].join(`\n${indent}case `);
  });
}

function assemble(contract, ir) {
  const settings = { ...common, optimizer: { ...optimizer, details: { yul: true } } };
  settings.outputSelection = { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } };
  const { contracts } = compile({ language: 'Yul', sources: { [contract]: { content: ir } }, settings });
  return Object.values(contracts[contract])[0].evm;
}

function compile(input) {
  const compiled = JSON.parse(solc.compile(JSON.stringify(input)));
  // Said of every use of transient storage in Yul, also where the compiler itself put it.
  const complaints = (compiled.errors ?? []).filter(({ message }) => !message.startsWith('Transient storage as defined by EIP-1153'));
  for (const { formattedMessage } of complaints) console.error(formattedMessage);
  if (complaints.length > 0) fail('the compiler complains; warnings count');
  return compiled;
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

function fail(message) {
  console.error(`build-contracts: ${message}`);
  process.exit(1);
}
