// Compiles contracts/src/*.sol into one JSON file for each contract that can be placed on a chain: abi, creation code, runtime code, storage slots.
// Usage: node contracts/build.mjs <output folder>. The compiler is the exact version below, from .tools/ (scripts/install-test-tools).
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '0.8.37'; // also named in scripts/install-test-tools
const LARGEST = 24_576; // bytes of runtime code (EIP-170)
const TRANSIENT = 'Transient storage as defined by EIP-1153'; // prefix of a compiler warning
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
const compiled = compile('src', names);

mkdirSync(output, { recursive: true });
for (const name of names) {
  const contract = name.slice(0, -'.sol'.length);
  const { abi, evm, storageLayout } = compiled.contracts[name]?.[contract] ?? fail(`${name} holds no ${contract}`);
  // Skips abstract contracts, which have no code, and libraries, which have no external functions.
  if (evm.deployedBytecode.object === '' || abi.every((entry) => entry.type === 'error')) continue;
  if (Object.keys(evm.deployedBytecode.immutableReferences ?? {}).length > 0) fail(`${contract} has immutables: it could not be etched`);
  if (abi.some((entry) => entry.type === 'constructor')) fail(`${contract} has a constructor: it could not be etched`);
  const size = evm.deployedBytecode.object.length / 2;
  if (size > LARGEST) fail(`${contract} has ${size} bytes of code, more than ${LARGEST}`);
  // Slot of each variable, so that changed slots can be decoded.
  const storage = Object.fromEntries(storageLayout.storage.map(({ label, slot }) => [label, Number(slot)]));
  const artifact = { abi, storage, bytecode: `0x${evm.bytecode.object}`, deployed: `0x${evm.deployedBytecode.object}` };
  writeFileSync(join(output, `${contract}.json`), `${JSON.stringify(sorted(artifact), null, 1)}\n`);
  if (process.env.SIZES) console.error(`${contract} ${size}`);
}

// Examples of own policy contracts, in the form of Foundry: they have constructors and are deployed by them.
const examples = readdirSync(join(here, 'examples')).filter((name) => name.endsWith('.sol')).sort();
mkdirSync(join(output, 'examples'), { recursive: true });
for (const [name, contracts] of Object.entries(compile('examples', examples).contracts)) {
  const contract = name.slice(0, -'.sol'.length);
  const { abi, evm } = contracts[contract] ?? fail(`${name} holds no ${contract}`);
  const { immutableReferences } = evm.deployedBytecode;
  const code = { bytecode: { object: `0x${evm.bytecode.object}` }, deployedBytecode: { object: `0x${evm.deployedBytecode.object}`, immutableReferences } };
  writeFileSync(join(output, 'examples', `${contract}.json`), `${JSON.stringify(sorted({ abi, ...code }), null, 1)}\n`);
}

function compile(folder, names) {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(names.map((name) => [name, { content: readFileSync(join(here, folder, name), 'utf8') }])),
    settings: {
      evmVersion: 'prague',
      viaIR: true,
      optimizer: { enabled: true, runs: 200 },
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'storageLayout', 'evm.bytecode.object', 'evm.deployedBytecode'] } },
    },
  };
  const compiled = JSON.parse(solc.compile(JSON.stringify(input)));
  const complaints = (compiled.errors ?? []).filter(({ message }) => !message.startsWith(TRANSIENT));
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
