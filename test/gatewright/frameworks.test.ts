import t from 'tap'
import { SERVERS } from './servers.ts'
import { suite } from './suite.ts'

for (const [name, start] of Object.entries(SERVERS)) suite(t, name, start)
