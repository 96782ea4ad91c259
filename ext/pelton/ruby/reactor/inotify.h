#ifndef PELTON_RUBY_REACTOR_INOTIFY_H
#define PELTON_RUBY_REACTOR_INOTIFY_H

/* Pelton::Inotify, on systems that have inotify: EventMachine's file watches use it. */
void pel_init_inotify(void);

#endif
