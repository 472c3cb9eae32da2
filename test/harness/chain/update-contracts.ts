import { updateContracts } from './contracts.ts'
import { installTools } from '../tools.ts'

installTools()
await updateContracts()
