import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostConfig } from '../config/host-config.ts'
import type { NamedSecret } from '../config/parsers.ts'
import type { RingKey } from '../records/sealed.ts'
import { createPrivateFile } from './private-file.ts'

/** Secrets that protect stored data. Without them stored API keys and signing keys cannot be used. */
export interface Secrets {
  readonly keyPeppers: readonly NamedSecret[]
  readonly signingKeyEncryptionKey: Uint8Array
  /** Keys of personal data. The first encrypts; all of them decrypt. */
  readonly dataKeys: readonly RingKey[]
  /** The token of the operator page; undefined if the page is off. */
  readonly operatorToken: string | undefined
}

interface SecretFile {
  readonly keyPepper: NamedSecret
  readonly signingKeyEncryptionKey: string
  readonly dataKey: NamedSecret
  readonly operatorToken: string
}

const MEMBERS = ['keyPepper', 'signingKeyEncryptionKey', 'dataKey', 'operatorToken'] as const

/**
 * Returns the configured secrets. Missing ones come from `dataDir/secrets.json`, which the first start creates with access for
 * its owner only. The file is on disk before any data is stored that depends on it. Hosts that start at once use the same file.
 */
export function loadSecrets(config: HostConfig): Secrets {
  const { keyPeppers, signingKeyEncryptionKey, dataKeys, dataDir, operator } = config
  const needsToken = operator !== undefined && operator.token === undefined
  if (keyPeppers && signingKeyEncryptionKey && dataKeys && !needsToken)
    return { keyPeppers, signingKeyEncryptionKey, dataKeys, operatorToken: operator?.token }
  const path = join(dataDir, 'secrets.json')
  const file = readSecrets(path) ?? createSecrets(path)
  return {
    keyPeppers: keyPeppers ?? [file.keyPepper],
    signingKeyEncryptionKey:
      signingKeyEncryptionKey ?? Buffer.from(file.signingKeyEncryptionKey, 'base64url'),
    dataKeys: dataKeys ?? [{ id: file.dataKey.id, secret: Buffer.from(file.dataKey.secret, 'base64url') }],
    operatorToken: needsToken ? file.operatorToken : operator?.token,
  }
}

function readSecrets(path: string): SecretFile | undefined {
  let file: SecretFile
  try {
    file = JSON.parse(readFileSync(path, 'utf8')) as SecretFile
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read as JSON: restore it from a backup, stored keys depend on it`, {
      cause: error,
    })
  }
  const missing = MEMBERS.find(member => file?.[member] === undefined)
  if (missing === undefined) return file
  throw new Error(
    `${path} has no ${missing}: restore it from a backup, or set DATA_DIR to another folder if an unreleased build made it`,
  )
}

/** Generates all secrets and writes them to the file, or returns those of another host that was faster. */
function createSecrets(path: string): SecretFile {
  const newSecret = (): string => randomBytes(32).toString('base64url')
  const secrets: SecretFile = {
    keyPepper: { id: 'sandbox-1', secret: newSecret() },
    signingKeyEncryptionKey: newSecret(),
    dataKey: { id: 'sandbox-1', secret: newSecret() },
    operatorToken: newSecret(),
  }
  if (createPrivateFile(path, `${JSON.stringify(secrets, null, 2)}\n`)) return secrets
  return readSecrets(path) ?? createSecrets(path)
}
