import { rows, toInteger, type SqlQueries } from '@gatewright/kernel/sql'

/** Rows that a person must look at, by kind. */
export type Attention = Readonly<Record<(typeof KINDS)[number], number>>

const KINDS = ['authorization', 'deposit', 'withdrawal'] as const

/** Counts the rows that a person must look at. Each table has an index of such rows. */
export async function countAttention(db: SqlQueries): Promise<Attention> {
  const counts = KINDS.map(async kind => {
    const text = `select count(*) as n from gw_${kind}s where attention is not null`
    return [kind, toInteger((await rows(db, text))[0]?.['n'])] as const
  })
  return Object.fromEntries(await Promise.all(counts)) as Attention
}
