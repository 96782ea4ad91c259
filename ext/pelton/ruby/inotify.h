#ifndef PEL_INOTIFY_H
#define PEL_INOTIFY_H

/* Pelton::Inotify, where the system has it: lib/pelton/eventmachine/file_watch.rb is its user. */
void pel_init_inotify(void);

#endif
