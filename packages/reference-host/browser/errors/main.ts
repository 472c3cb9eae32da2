import { followStatus } from '../shared/status.ts'

followStatus()
