import { testTrees } from './card-trees.ts'

await testTrees({ numRuns: 3, seed: 36 })
