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
export { hostTable, table } from './records/table.ts'
export { pageSql } from './records/table.ts'
export type {
  HostTable,
  Members,
  NewRecordOf,
  OwnedMembers,
  PageOf,
  RecordOf,
  Row,
  Table,
} from './records/table.ts'
export type { Column, Given, Group, Values } from './records/columns.ts'
