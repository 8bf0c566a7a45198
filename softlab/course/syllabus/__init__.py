"""One module a notebook: ``lesson_NN.LESSON``, its title, time, objectives and exercises. A new module is found."""
