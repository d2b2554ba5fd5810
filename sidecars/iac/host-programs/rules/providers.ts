import { blocksOf, type ConfigTree, descendantsOf, isUnset, stringsOf } from '../config-tree.ts'
import { type Findings, reaching } from '../findings.ts'
import { judgeGoogle } from './backends.ts'
import { addressReach, addressWhy, type Place, pathReach } from './place.ts'

/** Arguments that read credentials of the host: such files can name programs and were not given to this job. */
const HOST_CREDENTIALS =
  /^(?:shared_config_files?|shared_credentials_(?:files?|dir)|credential_process|(?:aws_)?web_identity_token_file|aws_shared_credentials_file|config_paths?|kubeconfig(?:_path)?|client_certificate_path|oidc_token_file_path|client_id_file_path|client_secret_file_path|private_key_path|config_file_profile|keytab_path|krb5conf_path|krbconf_path|credentials_file|token_file(?:name)?|service_account_key_file|oidc_token_file|profile_file)$/
/** Other arguments that name a file. One inside the repository is harmless. */
const FILE =
  /(?:_file|_files|_dir|_dirs|_bundle|_filename|cacert|ca_cert|cert_path|key_path|keyring|_config_path|plugins_path|repository_cache)$/
const SENDS_CREDENTIALS =
  /^(?:metadata_host|msi_endpoint|oidc_request_url|credentials_uri|ec2_metadata_service_endpoint)$/
const HOST = /(?:^|_)(?:host|hostname|address|addr|server|endpoint|uri|url)$/

/** Finds provider arguments that name files or programs of the host, or connect to it. */
export function findProviders({ root }: ConfigTree, place: Place): Findings {
  return blocksOf(root, 'provider', 1).flatMap(({ labels, line: start, body }) => {
    const type = labels[0] ?? ''
    const findings: Findings = []
    for (const { key, line: at, value } of descendantsOf(body)) {
      if (key === null || isUnset(value)) continue
      const refuse = (reach: string | null) =>
        findings.push(...reaching(at || start, `provider "${type}" with ${key}`, reach))
      if (HOST_CREDENTIALS.test(key))
        refuse('it reads credentials of the host, and a file or program that is named there')
      else if (key === 'use_cli' && value.kind === 'word' && value.word === 'true')
        refuse('it runs the command line tool of the cloud')
      else if (key === 'credentials' && /^google/.test(type)) judgeGoogle(value, refuse)
      else if (SENDS_CREDENTIALS.test(key)) refuse('it sends the credentials to another address')
      else if (value.kind === 'string' || value.kind === 'array') judgeTexts(key, value, place, refuse)
    }
    return findings
  })
}

function judgeTexts(
  key: string,
  value: Parameters<typeof stringsOf>[0],
  place: Place,
  refuse: (reach: string | null) => void,
): void {
  for (const text of stringsOf(value)) {
    const path =
      FILE.test(key) && !/^-----BEGIN/.test(text.value.trim()) ? pathReach({ kind: 'string', ...text }, place) : null
    refuse(path)
    if (path !== null) return
    const reach = addressReach(text.value, place, HOST.test(key) ? 'host' : 'url')
    // Company clusters and databases are in private networks; the sandbox decides which of them are reachable.
    if (reach !== 'a private network') refuse(addressWhy(reach))
  }
}
