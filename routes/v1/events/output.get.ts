import { eventLogEndpoint } from '../../sse-answers.ts'

export const getOutput = eventLogEndpoint('output', 'Output', {
  operationId: 'getOutput',
  summary: 'What the engine prints',
  description:
    'Server-sent events as in the activity stream: the lines of the engine jobs as they come, masked, and where each ' +
    'job began and ended. A round tells at most 20,000 events or 16 MiB of output, then the event `cut` and what is ' +
    'described there. Events are kept for 30 days. For the owner and for every holder of a panel role.',
  example:
    ': keepalive\n\nid: 9\nevent: lines\ndata: {"id":9,"round":1,"at":"2026-03-01T14:25:31.123456Z","type":"lines",' +
    '"step":"plan","job_id":"0c5e7b1e-0d0b-4c0a-9d38-1d1f5f3a7f10","stream":"stdout","text":"Refreshing state...\\n"}' +
    '\n\nevent: end\ndata: {"status":"completed"}\n\n',
})
