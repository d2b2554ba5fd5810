/** The RFC 7807 document of every sidecar's errors. The message of a plain error is its title. */
export interface Problem {
  type: 'about:blank'
  title: string
  status: number
  detail?: string
}

export const problem = (status: number, title: string, detail?: string): Problem =>
  detail === undefined ? { type: 'about:blank', title, status } : { type: 'about:blank', title, status, detail }

export function problemResponse(
  status: number,
  title: string,
  detail?: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(problem(status, title, detail)), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
}
