import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { tool } from '../tools.ts'

/** What a Solidity file compiles to. It is committed, so that tests need no compiler; the slow suite compiles it again. */
export interface CompiledContracts {
  readonly compiler: string
  /** SHA-256 of the source in hex. */
  readonly source: string
  /** Creation code by contract. */
  readonly contracts: Readonly<Record<string, `0x${string}`>>
}

/** The Solidity files of the tests. */
export const CONTRACT_FILES = [
  'test/harness/chain/contracts/Tokens.sol',
  'test/signature-verifier/contracts/Wallets.sol',
] as const

const fixtureOf = (file: string): string => file.replace(/\.sol$/, '.json')

/** Creation code of a Solidity file's contracts, by name. Throws where the file was changed and not compiled again. */
export function contractsOf(file: (typeof CONTRACT_FILES)[number]): Record<string, `0x${string}`> {
  const { source, contracts } = committedContracts(file)
  if (source !== hash('sha256', readFileSync(file))) {
    throw new Error(`${file} was changed since it was compiled: run npm run contracts:update`)
  }
  return { ...contracts }
}

interface Solc {
  version(): string
  compile(input: string): string
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
}

/** Compiles a Solidity file with the pinned compiler of `test/tools`, settings as for SignatureCheck. */
export async function compileContracts(file: string): Promise<CompiledContracts> {
  const { default: solc } = await tool<{ default: Solc }>('solc')
  const settings = {
    evmVersion: 'paris',
    optimizer: { enabled: true, runs: 1 },
    metadata: { appendCBOR: false, bytecodeHash: 'none' },
    outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
  }
  const source = readFileSync(file, 'utf8')
  const input = JSON.stringify({ language: 'Solidity', sources: { file: { content: source } }, settings })
  const output = JSON.parse(solc.compile(input)) as SolcOutput
  const failed = output.errors?.find(error => error.severity === 'error')
  if (failed) throw new Error(failed.formattedMessage)
  const contracts = Object.entries(output.contracts['file'] ?? {}).map(
    ([name, { evm }]) => [name, `0x${evm.bytecode.object}`] as const,
  )
  return {
    compiler: solc.version(),
    source: hash('sha256', source),
    contracts: Object.fromEntries(contracts),
  }
}

/** Compiles all files of the tests and writes what they compile to beside them. */
export async function updateContracts(): Promise<void> {
  for (const file of CONTRACT_FILES) {
    writeFileSync(fixtureOf(file), `${JSON.stringify(await compileContracts(file), null, 2)}\n`)
  }
}

/** What is committed for a file. */
export function committedContracts(file: string): CompiledContracts {
  return JSON.parse(readFileSync(fixtureOf(file), 'utf8')) as CompiledContracts
}
