import { readHcl, textOf } from '../../hcl/read.ts'

/** The engine's file of chosen provider versions, in the engine root. */
export const LOCK_FILE = '.terraform.lock.hcl'

/** A provider that the engine has chosen. */
export interface LockedProvider {
  /** Source address without the host, for example `hashicorp/aws`. */
  source: string
  version: string
  /** What the code allows; null when it states nothing. */
  constraints: string | null
}

/** Reads the providers of a lock file. Entries without a source or version are left out. */
export const readLockFile = (text: string): LockedProvider[] =>
  readHcl(text).body.blocks.flatMap(({ type, labels, body }) => {
    const source = labels[0]?.split('/').slice(-2).join('/') ?? ''
    const version = textOf(body, 'version')
    if (type !== 'provider' || source === '' || !version) return []
    return [{ source, version, constraints: textOf(body, 'constraints') }]
  })
