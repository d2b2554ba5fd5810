import type { Attributes } from './attributes.ts'
import type { TracedSession } from './types.ts'

/** What every span of a session carries; the most telling last, since the oldest are dropped first. */
export function identityOf(session: TracedSession, chain_type?: string): Attributes {
  const { uuid, username, provider, workspace } = session
  const metadata = {
    session_id: uuid,
    user_id: username,
    cloud: provider === 'kubernetes' ? 'K8S' : provider.toUpperCase(),
    repo_uri: workspace.uri,
    iac_path: workspace.root_path,
    branch_name: workspace.branch,
    ...(chain_type !== undefined && { chain_type }),
  }
  return { metadata: JSON.stringify(metadata), 'user.id': username, 'session.id': uuid }
}
