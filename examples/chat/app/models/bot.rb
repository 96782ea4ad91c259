# frozen_string_literal: true

class Bot < Pelton::Record::Model
  belongs_to :user
end
