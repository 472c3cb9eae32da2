// Imports a package of this folder: what is compiled elsewhere cannot find it by its name.
export const load = name => import(name)
