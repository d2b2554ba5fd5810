/**
 * What the session's own change may have caused. An error that would else be the environment's stays with the
 * code where the code touched what the error is about.
 */
export interface Blame {
  /** The change touches settings of a provider or backend. */
  settings: boolean
  /** The change brings in this provider, for example `hashicorp/random`. */
  introduces(provider: string): boolean
}

const SETTINGS =
  /^.?\s*(provider\s+"|provider\s*=|backend\s+"|cloud\s*\{|required_providers\b|provider_meta\b|assume_role\w*\b|profile\s*=|shared_\w+_files\s*=|access_key\s*=|secret_key\s*=|token\s*=|credentials\s*=|impersonate_\w+\s*=|client_(id|secret)\w*\s*=|tenant_id\s*=|subscription_id\s*=|use_(cli|msi|oidc|aks_\w+)\s*=|config_(path|paths|context)\w*\s*=|auth\s*=|endpoints?\b|skip_\w+\s*=)/
const CHANGED = /^[+-](?![+-]{2} )/

/** @param diff unified diff of the session, text of new files included */
export function blameOf(diff: string): Blame {
  const lines = diff.split('\n')
  const changed = lines.filter((line) => CHANGED.test(line))
  const near = lines.some((line) => /^ \s*(provider|backend)\s+"/.test(line))
  const added = changed.filter((line) => line.startsWith('+')).join('\n')
  return {
    settings: near || changed.some((line) => SETTINGS.test(line)),
    introduces: (provider) => {
      const name = /^[\w-]+$/.exec(provider.split('/').at(-1) ?? '')?.[0]
      if (name === undefined) return false
      return new RegExp(`"${name}_|/${name}"|provider\\s+"${name}"|^\\+\\s*${name}\\s*=\\s*\\{`, 'm').test(added)
    },
  }
}
