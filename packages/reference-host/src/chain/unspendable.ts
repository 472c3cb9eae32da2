import type { NetworkAddress } from './addresses.ts'

/**
 * Addresses that have no key, or whose contract keeps what it receives, beside those that `isUnspendable` finds by their bytes. In the
 * spelling of `canonicalAddress`.
 */
const UNSPENDABLE: ReadonlySet<string> = new Set([
  // Ethereum and networks like it: burn addresses, and the placeholder of the native asset (ERC-7528).
  '0xdead000000000000000042069420694206942069',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000',
  '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
  // Ethereum: the deposit contract, and the contracts of EIP-4788, EIP-2935, EIP-7002 and EIP-7251.
  '0x00000000219ab540356cbb839cbe05303d7705fa',
  '0x000f3df6d732807ef1319fb7b8bb8522d0beac02',
  '0x0000f90827f1c53a10cb7a02335b175320002935',
  '0x00000961ef480eb55e80d19ad83579a64c007002',
  '0x0000bbddc7ce488642fb579f8b00f3a590007251',
  // Bitcoin and Dogecoin: texts that were burnt to.
  '1BitcoinEaterAddressDontSendf59kuE',
  '1CounterpartyXXXXXXXXXXXXXXXUWLpVr',
  'DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr',
  // XRP Ledger: the special addresses of its documentation; nobody has the regular key of the genesis account any more.
  'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
  'rrrrrrrrrrrrrrrrrNAMEtxvNvQ',
  // Tron: the black hole.
  'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy',
  // Solana: programs of tokens. Those of the system end in many ones.
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
])

/** Predeploys of the OP stack (0x4200...0000 to 07ff), and precompiles of Avalanche (0x0100...00 to 0x03...ff). */
const RESERVED = /^0x(?:42(?:0{34})0[0-7][0-9a-f]{2}|0[1-3]0{36}[0-9a-f]{2})$/

/**
 * Whether nobody can spend what is sent to an address: a burn address, a precompile, a contract of the network itself. No key is known
 * for bytes that are all 00 or all ff but for the last two, and precompiles have small numbers.
 */
export function isUnspendable({ text, bytes }: NetworkAddress): boolean {
  if (UNSPENDABLE.has(text) || RESERVED.test(text)) return true
  // A program of 2 bytes is an address of a later version of segregated witness.
  if (bytes.length < 20) return false
  const first = bytes.subarray(0, -2)
  if (first.every(byte => byte === 0x00) || first.every(byte => byte === 0xff)) return true
  // Solana's programs: only an address that was made as text ends in so many ones.
  return bytes.length === 32 && /^[^0]*1{20}$/.test(text)
}
