export {
  defaulted,
  digits,
  flag,
  instant,
  integer,
  json,
  named,
  nullable,
  nullableGroup,
  oneOf,
  position,
  text,
  words,
} from './records/columns.ts'
export type { Column, Group } from './records/columns.ts'
export { hostTable, table } from './records/table.ts'
export type { HostTable, PageOf, Row, Table } from './records/table.ts'
