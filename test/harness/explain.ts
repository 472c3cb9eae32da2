import pg from 'pg'

/** A node of a plan, as Postgres reports it. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

/** How a statement was run: planned for its values, and planned once for all values, as a prepared one comes to be. */
export interface StatementPlans {
  readonly text: string
  readonly plans: readonly [custom: PlanNode, generic: PlanNode]
}

/** A node and all below it. */
export function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

/** The pages that a plan looks at. */
export function buffersOf(plan: PlanNode): number {
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

type Statement =
  | string
  | {
      readonly text: string
      readonly values?: readonly unknown[]
      readonly ends?: { readonly begin: boolean; readonly commit: boolean }
    }
type Query = (this: pg.Client, statement: Statement, ...rest: unknown[]) => unknown
type Run = (text: string, values?: readonly unknown[]) => Promise<{ rows: Record<string, unknown>[] }>

/**
 * Explains statements of this process before they run, where they run, with their own values, and takes back what that
 * changes: the first `most` of each text that is wanted, until `stop` is called.
 */
export function explainQueries(
  wanted: (text: string) => boolean,
  most: number,
): { readonly found: StatementPlans[]; stop(): void } {
  const found: StatementPlans[] = []
  const inTransaction = new WeakSet<pg.Client>()
  const real = pg.Client.prototype.query as unknown as Query
  const counts = new Map<string, number>()

  async function explain(
    client: pg.Client,
    text: string,
    values: readonly (string | number | null)[],
  ): Promise<void> {
    const run = ((...args: [string]) => Reflect.apply(real, client, args)) as Run
    const [begin, undo] = inTransaction.has(client)
      ? ['savepoint explained', 'rollback to explained']
      : ['begin', 'rollback']
    const planOf = async (
      before: string,
      statement: string,
      given?: readonly unknown[],
    ): Promise<PlanNode> => {
      await run(begin)
      try {
        if (before) await run(before)
        const { rows } = await run(`explain (analyze, buffers, format json) ${statement}`, given)
        return (rows[0]?.['QUERY PLAN'] as [{ Plan: PlanNode }])[0].Plan
      } finally {
        await run(undo)
      }
    }
    const custom = await planOf('', text, values)
    await run(`prepare explained as ${text}`)
    const list = values.map(value => (value === null ? 'null' : pg.escapeLiteral(String(value)))).join()
    const execute = `execute explained${list ? `(${list})` : ''}`
    const generic = await planOf('set local plan_cache_mode = force_generic_plan', execute).finally(() =>
      run('deallocate explained'),
    )
    found.push({ text, plans: [custom, generic] })
  }

  pg.Client.prototype.query = function (statement, ...rest) {
    const text = typeof statement === 'string' ? statement : statement.text
    const given = typeof statement === 'string' ? rest[0] : statement.values
    const values = Array.isArray(given) ? (given as (string | number | null)[]) : []
    if (text === 'begin') inTransaction.add(this)
    if (text === 'commit' || text === 'rollback') inTransaction.delete(this)
    const count = counts.get(text) ?? 0
    // One that goes out with the begin or the commit of its transaction.
    const ends = typeof statement === 'string' ? undefined : statement.ends
    const go = (): unknown => {
      if (ends?.begin) inTransaction.add(this)
      if (ends?.commit) inTransaction.delete(this)
      return Reflect.apply(real, this, [statement, ...rest])
    }
    if (count >= most || !wanted(text)) return go()
    counts.set(text, count + 1)
    const explained = explain(this, text, values)
    if (typeof rest.at(-1) !== 'function') return explained.then(go)
    explained.then(go, rest.at(-1) as (error: unknown) => void)
    return undefined
  } satisfies Query as unknown as typeof pg.Client.prototype.query
  return {
    found,
    stop() {
      pg.Client.prototype.query = real as unknown as typeof pg.Client.prototype.query
    },
  }
}
