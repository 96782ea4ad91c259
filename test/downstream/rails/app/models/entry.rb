# frozen_string_literal: true

class Entry < ActiveRecord::Base
end
