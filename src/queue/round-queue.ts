/** Name of the queue that wakes workers for waiting rounds. */
export const ROUND_QUEUE = 'rounds'
