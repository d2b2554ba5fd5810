import { visibleText } from '../../ui/words/text.ts'
import { hostName, type PullRequest, safeLink } from './merge-readiness.ts'

/** Leads to the git host, where the address is one of the web; else it is text. */
export function PullRequestLink({ pull_request: { provider, url, number } }: { pull_request: PullRequest }) {
  const link = safeLink(url)
  const name = `Pull request ${number} at ${hostName(provider)}`
  if (link === null)
    return (
      <span>
        {name} <span class="mono small quiet">{visibleText(url).slice(0, 300)}</span>
      </span>
    )
  return (
    <a href={link} rel="noreferrer">
      {name}
    </a>
  )
}
