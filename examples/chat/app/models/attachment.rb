# frozen_string_literal: true

class Attachment < Pelton::Record::Model
  belongs_to :message
end
