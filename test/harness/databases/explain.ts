import pg from 'pg'

/** A node of a plan, as Postgres reports it. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  /** The unique indexes by which an insert finds a row that exists. */
  readonly 'Conflict Arbiter Indexes'?: readonly string[]
  readonly 'Rows Removed by Filter'?: number
  readonly 'Actual Rows'?: number
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
      readonly values?: Sent['values']
      /** All that is sent together, if it is more. */
      readonly statements?: readonly Sent[]
    }
/** A statement with its values. */
interface Sent {
  readonly text: string
  readonly values: readonly (string | number | null)[]
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

  /** Explains a statement that runs after others which have not run yet. */
  async function explain(client: pg.Client, { text, values }: Sent, earlier: readonly Sent[]): Promise<void> {
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
        for (const each of earlier) await run(each.text, each.values)
        if (before) await run(before)
        const { rows } = await run(`explain (analyze, buffers, format json) ${statement}`, given)
        return (rows[0]?.['QUERY PLAN'] as [{ Plan: PlanNode }])[0].Plan
      } finally {
        await run(undo)
      }
    }
    // Twice: a connection also reads the catalog when it runs a statement for the first time.
    await planOf('', text, values)
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
    const given = typeof statement === 'string' ? rest[0] : statement.values
    const single =
      typeof statement === 'string'
        ? { text: statement, values: Array.isArray(given) ? (given as Sent['values']) : [] }
        : { text: statement.text, values: statement.values ?? [] }
    const sent: readonly Sent[] = (typeof statement !== 'string' && statement.statements) || [single]
    const go = (): unknown => {
      if (sent[0]?.text === 'begin') inTransaction.add(this)
      if (['commit', 'rollback'].includes(String(sent.at(-1)?.text))) inTransaction.delete(this)
      return Reflect.apply(real, this, [statement, ...rest])
    }
    const own = sent.filter(({ text }) => text !== 'begin' && text !== 'commit')
    const explained: number[] = []
    for (const [index, each] of own.entries()) {
      const count = counts.get(each.text) ?? 0
      if (count >= most || !wanted(each.text)) continue
      counts.set(each.text, count + 1)
      explained.push(index)
    }
    if (explained.length === 0) return go()
    const explainAll = async (): Promise<void> => {
      for (const index of explained) await explain(this, own[index] as Sent, own.slice(0, index))
    }
    const all = explainAll()
    if (typeof rest.at(-1) !== 'function') return all.then(go)
    all.then(go, rest.at(-1) as (error: unknown) => void)
    return undefined
  } satisfies Query as unknown as typeof pg.Client.prototype.query
  return {
    found,
    stop() {
      pg.Client.prototype.query = real as unknown as typeof pg.Client.prototype.query
    },
  }
}
