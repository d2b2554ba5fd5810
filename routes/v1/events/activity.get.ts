import { eventLogEndpoint } from '../../sse-answers.ts'

export const getActivity = eventLogEndpoint('activity', 'Activity', {
  operationId: 'getActivity',
  summary: 'What a round does',
  description:
    'Server-sent events: the comment `: keepalive` at once and after 15 seconds without a frame; the events of the ' +
    'newest round so far, then each new one; at the end of the round the event `end` with its status. Names, paths, ' +
    'counts and outcomes, never contents. A round tells at most 5,000 events or 1 MiB, then the event `cut` and what ' +
    'is described there. Ends after the configured number of polls too; connect again then, with `Last-Event-ID`. ' +
    'Events are kept for 30 days. For the owner and for every holder of a panel role.',
  example:
    ': keepalive\n\nid: 7\nevent: tool.called\ndata: {"id":7,"round":1,"at":"2026-03-01T14:25:30.123456Z",' +
    '"type":"tool.called","chain":"IAC_GENERATOR","tool":"read_file","path":"main.tf","outcome":"ok","seconds":0.01}' +
    '\n\nevent: end\ndata: {"status":"completed"}\n\n',
})
