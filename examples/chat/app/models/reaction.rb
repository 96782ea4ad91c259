# frozen_string_literal: true

class Reaction < Pelton::Record::Model
  belongs_to :message
  belongs_to :user
end
