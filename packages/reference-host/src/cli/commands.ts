import { explainTokenCommand } from './explain-token.ts'
import { startCommand } from './start.ts'

/** The commands that open no stores. */
export const commands = [startCommand, explainTokenCommand]
