import { dividedTables } from '../../harness/databases/table-marks.ts'

/** A node of a plan of Postgres. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Join Type'?: string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** A partition that `divideTables` has made: its table, and which one it is. */
const PARTITION = /^(gw_\w+)_p\d+of\d+$/

const below = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(below)]

/** Returns the tables of which a plan reads several partitions, each with their number. */
export function severalPartitions(plan: PlanNode): ReadonlyMap<string, number> {
  const found = new Map<string, Set<string>>()
  for (const { 'Relation Name': partition = '' } of below(plan)) {
    const table = PARTITION.exec(partition)?.[1]
    if (table !== undefined) found.set(table, (found.get(table) ?? new Set()).add(partition))
  }
  return new Map([...found].filter(([, { size }]) => size > 1).map(([table, { size }]) => [table, size]))
}

const readsSeveral = (node: PlanNode): boolean => severalPartitions(node).size > 0
const WITHOUT_STRINGS = /'[^']*'/g
const VALUES_WITH_QUERY =
  /\binsert into\b[^]*?\bvalues\b(?:(?!\bon conflict\b|\breturning\b)[^])*?\(\s*select\b/
const LATERAL_OVER_VALUES = /\(\s*values\b[^]*\blateral\b/
const EXISTS = /\bfrom (gw_\w+)(?:(?!\bfrom\b)[^])*?\bexists\s*\(\s*select\b[^]*?\bfrom (gw_\w+)/g

/**
 * Returns why Citus refuses a statement, which Postgres runs: by its text, and by its plan on tables that are divided as their marks say. The
 * errors of Citus are those of its version 13.2.
 */
export function refusals(text: string, plan: PlanNode): string[] {
  const sql = text.replaceAll(WITHOUT_STRINGS, "''").toLowerCase()
  const nodes = below(plan)
  const found: string[] = []
  if (nodes.some(node => node['Node Type'] === 'LockRows' && readsSeveral(node)))
    found.push('locks rows of several shards')
  if (VALUES_WITH_QUERY.test(sql)) found.push('has a query in the values of an insert')
  if (LATERAL_OVER_VALUES.test(sql)) found.push('joins a lateral query to values')
  if (dependsOnReference(sql, severalPartitions(plan)))
    found.push('has a correlated query on several shards beside a reference table')
  if (joinsOffColumn(sql, nodes)) found.push('joins shards by other columns than those that divide them')
  return found
}

/** Whether a query of several shards is asked for each row of a table that all machines have. */
function dependsOnReference(sql: string, several: ReadonlyMap<string, number>): boolean {
  const divided = dividedTables()
  return [...sql.matchAll(EXISTS)].some(
    ([, outer = '', inner = '']) => !divided.has(outer) && several.has(inner),
  )
}

/** Whether shards of one table are joined to those of another, or of itself, and no condition compares the columns that divide them. */
function joinsOffColumn(sql: string, nodes: readonly PlanNode[]): boolean {
  const columns = new Set(dividedTables().values())
  const compared = [...columns].some(column =>
    new RegExp(`\\b(?:\\w+\\.)?${column}\\s*=\\s*\\w+\\.${column}\\b`).test(sql),
  )
  const joined = nodes.some(
    ({ 'Join Type': type, Plans: plans = [] }) =>
      ['Semi', 'Anti', 'Inner', 'Left', 'Right', 'Full', 'Right Anti', 'Right Semi'].includes(String(type)) &&
      plans.filter(readsSeveral).length > 1,
  )
  return joined && !compared && !JOINED_AS_RESULT.test(sql)
}

/** Citus runs a query that depends on no other row first, and then compares its result: `in (select ...)` and `not in (select ...)`. */
const JOINED_AS_RESULT = /\bin\s*\(\s*(?:select|with)\b/
