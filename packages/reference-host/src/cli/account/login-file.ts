import { readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CommandError, replacePrivateFile } from '@gatewright/host/internal/commands'

/** What `gatewright login` keeps: the key of a person at a host. */
export interface Login {
  /** The origin of the host. */
  readonly host: string
  readonly keyId: string
  /** The secret text of the key. */
  readonly key: string
  readonly walletAddress: string | null
}

/** Where the login is kept: `gatewright/login.json` in the user's folder of settings (`XDG_CONFIG_HOME`, default `~/.config`). */
export function loginFile(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'gatewright', 'login.json')
}

/** Returns the login, or undefined if nobody is logged in. Throws a `CommandError` if the file cannot be read. */
export async function findLogin(env: NodeJS.ProcessEnv): Promise<Login | undefined> {
  const file = loginFile(env)
  const unreadable = (why: string): CommandError =>
    new CommandError(
      `${file} cannot be read (${why}). To log in again, delete it and revoke its key in the console of the host`,
    )
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable((error as Error).message)
  }
  const login = parseLogin(text)
  if (!login) throw unreadable('it holds no login')
  return login
}

/** Reads a stored login; undefined for any other text. The error of `JSON.parse` is not shown: it has a part of the text, which can be of the key. */
function parseLogin(text: string): Login | undefined {
  try {
    const login = JSON.parse(text) as Partial<Login> | null
    const isLogin = [login?.host, login?.keyId, login?.key].every(each => typeof each === 'string')
    return isLogin ? (login as Login) : undefined
  } catch {
    return undefined
  }
}

/** As `findLogin`, for a command that needs a login: throws a `CommandError` also if nobody is logged in. */
export async function readLogin(env: NodeJS.ProcessEnv): Promise<Login> {
  const login = await findLogin(env)
  if (login === undefined)
    throw new CommandError('You are not logged in: run npx gatewright login HOST', 'not_logged_in')
  return login
}

/** Stores the login, readable by its user only. A command that is killed leaves the old file or the new one. */
export function writeLogin(env: NodeJS.ProcessEnv, login: Login): string {
  const file = loginFile(env)
  replacePrivateFile(file, `${JSON.stringify(login, null, 2)}\n`)
  return file
}

/** Deletes the login. */
export async function removeLogin(env: NodeJS.ProcessEnv): Promise<void> {
  await rm(loginFile(env), { force: true })
}
