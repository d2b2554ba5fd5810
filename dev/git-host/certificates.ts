import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { readText, writeAtomically } from '../files.ts'

const DAY_MS = 86_400_000
const VALID_MS = 820 * DAY_MS

/**
 * Loads the certificates of the sample git host (127.0.0.1 and localhost) from a folder: that of an authority and that
 * of the server. Missing ones are made, and those that expire within a month are renewed. The authority's key is not
 * stored.
 * @returns `ca_file` is the PEM file of the authority, for git's `http.sslCAInfo` and `NODE_EXTRA_CA_CERTS`
 */
export async function loadCertificates(folder: string) {
  const caFile = join(folder, 'ca.pem')
  const bundleFile = join(folder, 'server.pem')
  const [caPem, bundle] = await Promise.all([readText(caFile), readText(bundleFile)])
  if (caPem !== null && bundle !== null) {
    const { cert, key } = split(bundle)
    if (usable(caPem, cert)) return { caPem, ca_file: caFile, cert, key }
  }
  const made = await create()
  await writeAtomically(bundleFile, `${made.cert}\n${made.key}`)
  await writeAtomically(caFile, made.caPem, 0o644)
  return { ...made, ca_file: caFile }
}

function split(bundle: string): { cert: string; key: string } {
  const end = bundle.indexOf('-----BEGIN', 10)
  return end < 0 ? { cert: bundle, key: '' } : { cert: bundle.slice(0, end).trim(), key: bundle.slice(end) }
}

function usable(caPem: string, cert: string): boolean {
  try {
    const server = new X509Certificate(cert)
    return (
      server.verify(new X509Certificate(caPem).publicKey) && server.validToDate.getTime() > Date.now() + 30 * DAY_MS
    )
  } catch {
    return false
  }
}

async function create(): Promise<{ caPem: string; cert: string; key: string }> {
  const period = { notBeforeDate: new Date(Date.now() - DAY_MS), notAfterDate: new Date(Date.now() + VALID_MS) }
  const shape = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', ...period } as const
  const authority = await generate([{ name: 'commonName', value: 'Platform sample git host authority' }], {
    ...shape,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  const server = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...shape,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return { caPem: authority.cert, cert: server.cert, key: server.private }
}
