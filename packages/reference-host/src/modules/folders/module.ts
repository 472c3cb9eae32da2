import type { HostServices, Module } from '@gatewright/host'
import { folderOperations } from './operations.ts'

/** Folders of cards. */
export const foldersModule: Module<HostServices> = {
  operations: folderOperations,
}
