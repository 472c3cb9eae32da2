import { start } from './start.ts'

start()
// Opening another link of a command line in the same tab changes only the fragment. The page is reloaded, which asks first if a
// new key would be lost.
addEventListener('hashchange', () => location.reload())
