import type { ListPosition } from './storage/port.ts'

/** Compares for the order: latest instant first, rows of one instant by descending id. */
export function newestFirst(one: ListPosition, other: ListPosition): number {
  return other.at - one.at || (one.id < other.id ? 1 : -1)
}

/** Whether a row comes after a position in that order; without a position every row does. */
export function isAfter(row: ListPosition, place: ListPosition | undefined): boolean {
  return place === undefined || newestFirst(row, place) > 0
}
