import { createContext } from 'preact'

/** Answers the present time in milliseconds. The console gives the platform's, so that a wrong clock here tells no lies. */
export const ClockContext = createContext<() => number>(Date.now)
