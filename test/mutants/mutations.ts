import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { parseSync } from 'oxc-parser'

/** One small change of a compiled module. */
export interface Mutation {
  /** The compiled module. */
  readonly file: string
  /** The first and the last offset of the text that is replaced. */
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** The line in the TypeScript source. */
  readonly line: number
  /** The compiled line before and after the change, without what the change leaves out beyond that line. */
  readonly before: string
  readonly after: string
}

/** A node of the syntax tree (ESTree). */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** A replaced piece of text. */
type Edit = readonly [start: number, end: number, replacement: string]

/** By which operators an operator is replaced. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '+=': ['-='],
  '-=': ['+='],
  '++': ['--'],
  '--': ['++'],
}
/** By which method a method is replaced. */
const METHODS: ReadonlyMap<unknown, string> = new Map([
  ['min', 'max'],
  ['max', 'min'],
  ['some', 'every'],
  ['every', 'some'],
])

/** Replacements in SQL. A comparison is replaced where it decides, not where a column is set. */
const SQL: readonly (readonly [RegExp, string])[] = [
  [/ <= /g, ' < '],
  [/ < /g, ' <= '],
  [/ >= /g, ' > '],
  [/ > /g, ' >= '],
  [/ = /g, ' <> '],
  [/ <> /g, ' = '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ and /g, ' or '],
  [/ or /g, ' and '],
  [/ is not null/g, ' is null'],
  [/ is null/g, ' is not null'],
  [/\bleast\(/g, 'greatest('],
  [/\bgreatest\(/g, 'least('],
  [/ desc\b/g, ' asc'],
  [/ asc\b/g, ' desc'],
  [/ for update\b/g, ''],
]
/** Replacements in Lua. */
const LUA: readonly (readonly [RegExp, string])[] = [
  [/ <= /g, ' < '],
  [/ < /g, ' <= '],
  [/ >= /g, ' > '],
  [/ > /g, ' >= '],
  [/ == /g, ' ~= '],
  [/ ~= /g, ' == '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ and /g, ' or '],
  [/ or /g, ' and '],
  [/\bnot /g, ''],
]
const IS_LUA = /redis\.call|\bthen\b[\s\S]*\bend\b/
const IS_SQL = /\b(?:select|insert into|update|delete from|where|order by|on conflict)\s/
const IS_DDL = /\b(?:create|alter) (?:table|unique index|index|function)\b/
const DECIDES = /\b(where|on|when|having|set|select|values|returning)\b/g

/** Lists the mutations of a compiled module, in the order of their places. */
export function mutationsOf(file: string): Mutation[] {
  const code = readFileSync(file, 'utf8')
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload)
  const edits: Edit[] = []
  visit(parseSync(file, code).program as unknown as Node, code, edits)
  return edits
    .sort((one, other) => one[0] - other[0])
    .map(([start, end, replacement]) => {
      const begin = code.lastIndexOf('\n', start - 1) + 1
      const stop = code.indexOf('\n', start)
      const lineEnd = stop < 0 ? code.length : stop
      const before = code.slice(begin, lineEnd).trim()
      const after = (code.slice(begin, start) + replacement + code.slice(end, Math.max(end, lineEnd))).trim()
      const entry = map.findEntry(code.slice(0, begin).split('\n').length - 1, start - begin)
      const line = 'originalLine' in entry ? entry.originalLine + 1 : 0
      return { file, start, end, replacement, line, before, after: after.split('\n')[0] as string }
    })
}

function visit(node: Node, code: string, edits: Edit[]): void {
  if (isNameTable(node) || isCompilerHelper(node)) return
  edits.push(...editsOf(node, code))
  for (const [member, value] of Object.entries(node)) {
    // A key that is no expression, and the path of an import, decide nothing.
    if (node.type === 'ImportDeclaration' || (member === 'key' && node['computed'] !== true)) continue
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, code, edits)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function editsOf(node: Node, code: string): Edit[] {
  const { type, start, end } = node
  const part = (name: string): Node => node[name] as Node
  const textOf = ({ start, end }: Node): string => code.slice(start, end)
  switch (type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      if (node['operator'] === '+' && [part('left'), part('right')].some(isText)) return []
      return operatorEdits(node, part('left').end, part('right').start, code)
    case 'UpdateExpression':
      return node['prefix'] === true
        ? operatorEdits(node, start, part('argument').start, code)
        : operatorEdits(node, part('argument').end, end, code)
    case 'UnaryExpression':
      return node['operator'] === '!' ? [[start, end, textOf(part('argument'))]] : []
    case 'AwaitExpression':
      return [[start, end, textOf(part('argument'))]]
    case 'ConditionalExpression': {
      if (isNegatedElsewhere(part('test'))) return []
      const { test, consequent, alternate } = node as unknown as Record<string, Node>
      const swapped = `(${textOf(test as Node)}) ? ${textOf(alternate as Node)} : ${textOf(consequent as Node)}`
      return [[start, end, swapped]]
    }
    case 'IfStatement':
      if (isNegatedElsewhere(part('test'))) return []
      return [[part('test').start, part('test').end, `!(${textOf(part('test'))})`]]
    case 'ExpressionStatement':
      return isCall(part('expression')) ? [[start, end, ';']] : []
    case 'MemberExpression': {
      const other = node['computed'] === true ? undefined : METHODS.get(part('property')['name'])
      return other ? [[part('property').start, part('property').end, other]] : []
    }
    case 'Literal':
      return literalEdits(node, code)
    case 'TemplateLiteral':
      return (node['quasis'] as Node[]).flatMap(quasi =>
        statementEdits(textOf(node), quasi.start, textOf(quasi), code),
      )
    default:
      return []
  }
}

function operatorEdits(node: Node, from: number, to: number, code: string): Edit[] {
  const operator = node['operator'] as string
  const at = code.indexOf(operator, from)
  if (at < 0 || at + operator.length > to) return []
  return (OPERATORS[operator] ?? []).map(other => [at, at + operator.length, other])
}

function literalEdits({ value, start, end }: Node, code: string): Edit[] {
  if (typeof value === 'boolean') return [[start, end, String(!value)]]
  if (typeof value === 'number') return [[start, end, String(value + 1)]]
  if (typeof value === 'bigint') return [[start, end, `${value + 1n}n`]]
  return typeof value === 'string' ? statementEdits(value, start, code.slice(start, end), code) : []
}

/** Edits of a piece of SQL or Lua. `whole` is the text that it is a part of. */
function statementEdits(whole: string, offset: number, piece: string, code: string): Edit[] {
  const isLua = IS_LUA.test(whole)
  if (!isLua && (!IS_SQL.test(whole) || IS_DDL.test(whole))) return []
  return (isLua ? LUA : SQL).flatMap(([pattern, replacement]) =>
    [...piece.matchAll(pattern)].flatMap((match): Edit[] => {
      const start = offset + match.index
      if (isComment(piece.slice(0, match.index))) return []
      if (!isLua && / [<>=]+ /.test(match[0]) && setsColumn(code.slice(Math.max(0, offset - 2000), start)))
        return []
      return [[start, start + match[0].length, replacement]]
    }),
  )
}

/** Whether what follows in SQL or Lua is a comment, by the text before it. */
function isComment(before: string): boolean {
  return before.slice(before.lastIndexOf('\n') + 1).includes('--')
}

/** Whether a place in SQL is in a list of columns that are set, by the last keyword before it. */
function setsColumn(before: string): boolean {
  return [...before.matchAll(DECIDES)].at(-1)?.[0] === 'set'
}

/** Whether another mutation makes the opposite of a condition: that of its operator. */
function isNegatedElsewhere({ type, operator }: Node): boolean {
  return type === 'UnaryExpression' || (type === 'BinaryExpression' && (operator as string) in OPERATORS)
}

/** Whether a node declares a table of option names, in which only the names decide: `const OPTIONS = { prefix: true }`. */
function isNameTable(node: Node): boolean {
  if (node.type !== 'VariableDeclarator' || !/^[A-Z_]+$/.test((node['id'] as Node)['name'] as string))
    return false
  const init = node['init'] as Node | null
  if (init?.type !== 'ObjectExpression') return false
  return (init['properties'] as Node[]).every(
    ({ type, value }) => type === 'SpreadElement' || (value as Node)['value'] === true,
  )
}

/** Whether a node declares a function that the TypeScript compiler adds: `var __rewriteRelativeImportExtension = ...`. */
function isCompilerHelper({ type, id }: Node): boolean {
  return type === 'VariableDeclarator' && String((id as Node)['name']).startsWith('__')
}

function isText({ type, value }: Node): boolean {
  return type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string')
}

function isCall({ type, argument, callee }: Node): boolean {
  if (type === 'AwaitExpression') return isCall(argument as Node)
  return type === 'CallExpression' && (callee as Node).type !== 'Super'
}
