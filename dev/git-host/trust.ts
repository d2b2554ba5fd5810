import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/**
 * Makes `fetch` of this process accept certificates of the given authority (PEM), beside the usual
 * ones. Processes of their own are started with `NODE_EXTRA_CA_CERTS` instead.
 */
export function trustAuthority(ca_pem: string): void {
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ca_pem])])
}
