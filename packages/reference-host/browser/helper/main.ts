import { isConsoleAddress } from './console/route.ts'
import { followStatus } from '../shared/status.ts'
import { start } from './start.ts'

start()
followStatus()
// Opening another link of a command line in the same tab changes only the fragment. The page is reloaded, which asks first if a
// new key would be lost. The console follows its own addresses.
addEventListener('hashchange', () => {
  if (!isConsoleAddress(location.hash)) location.reload()
})
