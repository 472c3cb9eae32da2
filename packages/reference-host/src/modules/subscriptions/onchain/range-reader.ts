import type { LogReader } from '../../../chain/log-reader.ts'
import type { TokenTransfer } from '../../../chain/reader.ts'
import type { AddressGap } from './address-gap.ts'
import type { AssignmentServices } from './assign-transfers.ts'
import { payinsOnChain } from './payins-on-chain.ts'

/** Reads the transfers of block ranges to all watched addresses of a chain. */
interface RangeReader {
  /** Checks that the node knows a block and its events. */
  check(block: number): Promise<void>
  /** Reads as many blocks as the node takes, at most up to `toBlock`; `toBlock` of the result is the last one that was read. */
  read(
    fromBlock: number,
    toBlock: number,
  ): Promise<{ readonly transfers: readonly TokenTransfer[]; readonly toBlock: number }>
}

/** Creates the range reader of a chain. */
export function rangeReader(
  {
    db,
    reader,
    receivers,
    logs,
  }: Pick<AssignmentServices, 'db' | 'reader' | 'receivers'> & { readonly logs: LogReader },
  ahead: AddressGap,
): RangeReader {
  const pending = payinsOnChain(db)
  const tokens = [...new Set(receivers.map(({ token }) => token))]
  const shared = receivers.map(({ receiver }) => receiver)

  const read: RangeReader['read'] = async (fromBlock, toBlock) => {
    const own = [...(await pending.openAddresses(reader.chainId)), ...(await ahead.addresses())]
    return logs.step({ tokens, receivers: [...new Set([...shared, ...own])], fromBlock, toBlock })
  }

  return {
    read,
    check: async block => void (await read(block, block)),
  }
}
