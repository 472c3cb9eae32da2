import { testTrees } from './card-trees.ts'

await testTrees({ numRuns: 60 })
